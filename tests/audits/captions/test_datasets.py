"""Readers of caption data sets on small files of their formats, and what is wrong with files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from portrayal.audits.captions.datasets import caption_tables, coco, person_words, spice, vinvl, visual_genome, zhao
from portrayal.audits.captions.reading.stages import HUMAN_LABELS, SYSTEM_CAPTIONS
from portrayal.errors import PortrayalError
from portrayal.systems.plugins.replay import read_coco_results


def write(path: Path, data) -> Path:
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_coco_captions_and_results(tmp_path) -> None:
    captions = {
        "annotations": [{"image_id": 1, "id": 7, "caption": "A dog."}, {"image_id": 1, "id": 8, "caption": "A cat."}]
    }
    table = coco.read_captions(write(tmp_path / "c.json", captions))
    assert table.rows() == [("1", 7, "A dog."), ("1", 8, "A cat.")]
    results = [{"image_id": 5, "caption": "x"}, {"image_id": 5, "caption": "y"}]
    assert read_coco_results(write(tmp_path / "r.json", results)).rows() == [("5", 0, "x"), ("5", 1, "y")]
    with pytest.raises(PortrayalError, match="lacks 'annotations'"):
        coco.read_captions(write(tmp_path / "bad.json", {"images": []}))
    with pytest.raises(PortrayalError, match="cannot be read as COCO captions"):
        coco.read_captions(write(tmp_path / "no.json", "{"))


def test_coco_instances_cut_boxes_at_the_edge_and_say_so(tmp_path) -> None:
    data = {
        "images": [{"id": 1, "width": 100, "height": 50}],
        "categories": [{"id": 3, "name": "dining table"}, {"id": 1, "name": "person"}],
        "annotations": [
            {"image_id": 1, "category_id": 1, "bbox": [10, 10, 20, 20]},
            {"image_id": 1, "category_id": 3, "bbox": [90, 0, 20, 10]},
            {"image_id": 1, "category_id": 3, "bbox": [200, 0, 20, 10]},
        ],
    }
    labels, boxes, faults = coco.read_instances(write(tmp_path / "i.json", data))
    assert set(labels["synset"]) == {"person.n.01", "dining_table.n.01"}
    assert boxes.rows()[0] == ("1", "person.n.01", 0.1, 0.2, 0.2, 0.4)
    assert boxes.rows()[1][4] == pytest.approx(0.1)
    assert dict(faults.select("fault", "count").iter_rows()) == {
        "box partly outside the image, cut": 1,
        "box outside the image or without area, left out": 1,
    }


def test_visual_genome_keeps_the_annotators_synsets(tmp_path) -> None:
    write(tmp_path / "image_data.json", [{"image_id": 9, "coco_id": 77, "width": 200, "height": 100}])
    woman = {"names": ["lady"], "synsets": ["woman.n.01"], "x": 0, "y": 0, "w": 100, "h": 50}
    write(tmp_path / "objects.json", [{"image_id": 9, "objects": [woman]}])
    write(tmp_path / "attributes.json", [{"image_id": 9, "attributes": [{**woman, "attributes": ["Happy "]}]}])
    relation = {
        "predicate": "WEARS",
        "synsets": ["wear.v.01"],
        "subject": woman,
        "object": {"name": "hat", "synsets": []},
    }
    write(tmp_path / "relationships.json", [{"image_id": 9, "relationships": [relation]}])
    names, sizes = visual_genome.read_image_data(tmp_path / "image_data.json")
    labels, boxes, _ = visual_genome.read_objects(tmp_path / "objects.json", names, sizes)
    assert labels.select("image", "word", "synset").rows() == [("77", "lady", "woman.n.01")]
    assert boxes.rows() == [("77", "woman.n.01", 0.0, 0.0, 0.5, 0.5)]
    attribute = visual_genome.read_attributes(tmp_path / "attributes.json", names).row(0, named=True)
    assert (attribute["subject_synset"], attribute["word"]) == ("woman.n.01", "happy")
    told = visual_genome.read_relationships(tmp_path / "relationships.json", names).row(0, named=True)
    assert (told["synset"], told["object_synset"]) == ("wear.v.01", "hat.n.01")


def test_conceptual_captions(tmp_path) -> None:
    path = write(tmp_path / "cc.tsv", 'a "man" on a horse\thttp://x/1\nanother\thttp://x/1\n')
    assert caption_tables.read_conceptual_captions(path).rows() == [
        ("http://x/1", 0, 'a "man" on a horse'),
        ("http://x/1", 1, "another"),
    ]
    with pytest.raises(PortrayalError, match="line 1 has 1 columns"):
        caption_tables.read_conceptual_captions(write(tmp_path / "bad.tsv", "only a caption\n"))


def test_plain_tables(tmp_path) -> None:
    path = write(tmp_path / "c.csv", "image_id,caption\n1,A dog\n")
    assert caption_tables.read_captions(path).rows() == [("1", "A dog")]
    labels = write(tmp_path / "l.csv", "image,kind,subject,word,object\n1,object,,dog,\n1,relation,dog,chase,ball\n")
    assert caption_tables.read_labels(labels, HUMAN_LABELS)["synset"].to_list() == ["dog.n.01", "chase.v.01"]
    with pytest.raises(PortrayalError, match="kind 'thing'"):
        caption_tables.read_labels(write(tmp_path / "b.csv", "image,kind,word\n1,thing,dog\n"), HUMAN_LABELS)
    boxes = "image,object,left,top,width,height,image_width,image_height\n1,dog,0,0,50,50,100,100\n2,dog,0,0,5,5,0,0\n"
    found, faults = caption_tables.read_boxes(write(tmp_path / "x.csv", boxes))
    assert found.rows() == [("1", "dog.n.01", 0.0, 0.0, 0.5, 0.5)]
    assert faults["fault"].to_list() == ["box of an image without a size, left out"]
    with pytest.raises(PortrayalError, match="Say who assigned each group"):
        caption_tables.read_people(write(tmp_path / "p.csv", "image,axis,group\n1,gender,female\n"))


def test_annotations_of_zhao(tmp_path) -> None:
    path = write(tmp_path / "z.csv", "id,bb_gender,bb_skin\n1,Male,Light\n2,Female,Dark\n3,Unsure,Both\n")
    people, faults = zhao.read_zhao(path)
    assert people.select("image", "axis", "group").rows() == [
        ("1", "gender", "male"),
        ("2", "gender", "female"),
        ("1", "skin", "lighter"),
        ("2", "skin", "darker"),
    ]
    assert set(people["assigned_by"]) == {"annotators' perception (Zhao et al. 2021)"}
    assert faults["count"].to_list() == [1, 1]
    with pytest.raises(PortrayalError, match="lacks a column for the gender"):
        zhao.read_zhao(write(tmp_path / "b.csv", "id,age\n1,old\n"))


def test_boxes_of_vinvl_are_shares_of_the_image(tmp_path) -> None:
    rects = [
        {"class": "Dog", "rect": [20, 10, 60, 40], "conf": 0.9},
        {"class": "cup", "rect": [0, 0, 5, 5], "conf": 0.1},
    ]
    sized = json.dumps({"image_w": 200, "image_h": 100, "objects": [*rects, {"class": "man", "conf": 0.9}]})
    path = write(tmp_path / "boxes.tsv", f"7\t{sized}\n8\t" + json.dumps(rects) + "\n")
    boxes, faults = vinvl.read_boxes(path, least=0.2)
    # left 20/200, top 10/100, width 40/200, height 30/100; image 8 has no size, so it has labels alone
    assert boxes.rows() == [("7", "dog.n.01", 0.1, 0.1, 0.2, 0.3)]
    assert faults.is_empty()
    assert vinvl.read_labels(path, least=0.2)["word"].to_list() == ["dog", "man", "dog"]


def test_vinvl_and_spice(tmp_path) -> None:
    labels = write(tmp_path / "v.tsv", '1\t[{"class": "man", "conf": 0.9}, {"class": "dog", "conf": 0.1}]\n')
    assert vinvl.read_labels(labels, least=0.2)["word"].to_list() == ["man"]
    captions = write(tmp_path / "c.tsv", '1\t[{"caption": "a man", "conf": 0.5}]\n')
    assert vinvl.read_captions(captions).rows() == [("1", 0, "a man")]
    with pytest.raises(PortrayalError, match="line 1 is not an id"):
        vinvl.read_labels(write(tmp_path / "b.tsv", "1\n"))
    entry = {
        "image_id": 4,
        "test_tuples": [{"tuple": ["man"]}, {"tuple": ["man", "tall"]}, {"tuple": ["man", "ride", "horse"]}],
    }
    table = spice.read_spice(write(tmp_path / "s.json", [entry]), SYSTEM_CAPTIONS)
    assert table["kind"].to_list() == ["object", "attribute", "relation"]
    with pytest.raises(PortrayalError, match="-detailed"):
        spice.read_spice(tmp_path / "s.json", SYSTEM_CAPTIONS, "ref")


def test_word_lists_users_obtain(tmp_path) -> None:
    synsets = person_words.read_person_synsets(write(tmp_path / "o.txt", "n10129825\tgirl\n"), "offensive")
    assert synsets["term"].to_list() == ["n10129825"]
    with pytest.raises(PortrayalError, match="no identifier"):
        person_words.read_person_synsets(write(tmp_path / "b.txt", "girl\n"), "offensive")
    verbs = write(tmp_path / "v.json", {"visual_actions": [{"name": "lay_down"}, {"name": "run"}]})
    assert person_words.read_visual_verbnet(verbs)["term"].to_list() == ["have", "in", "lay", "run"]
    write(tmp_path / "mood.txt", "happy\nSad\n")
    write(tmp_path / "height.txt", "tall\n")
    write(tmp_path / "familyrelation.txt", "twin\n")
    table = person_words.read_descriptors(tmp_path)
    assert set(table.select("term", "kind").rows()) == {("happy", "mood"), ("sad", "mood"), ("twin", "relation")}
