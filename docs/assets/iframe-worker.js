// Browsers start no worker from a page on the disk. There, the search's worker runs in a hidden frame instead, so that the site can be
// searched without a server. The theme would fetch such a script from the network; this one is ours.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.inner = frame.contentWindow;
      // What the worker's code calls: an answer goes to whoever listens to us.
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = this.load(address);
      this.inner.importScripts = (...more) => Promise.all(more.map((one) => this.load(one)));
    }

    load(address) {
      const script = this.inner.document.createElement("script");
      script.src = new URL(address, location.href).href;
      const loaded = new Promise((done) => script.addEventListener("load", done));
      this.inner.document.body.appendChild(script);
      return loaded;
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })));
    }

    terminate() {
      this.inner.frameElement.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
