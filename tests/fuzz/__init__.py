"""Every reader of files and answers, on damaged and hostile input: it reads, or says in one line why not."""
