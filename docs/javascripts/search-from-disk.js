// Search in pages that are opened from disk. Browsers refuse to start a worker there, so the
// search's script runs in a hidden frame, which takes and sends copies as a worker would.
class WorkerInFrame extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.appendChild(this.frame);
    const inside = this.frame.contentWindow;
    inside.document.open();
    inside.document.write("<!doctype html><body></body>");
    inside.document.close();
    inside.postMessage = (data) => this.tell(structuredClone(data));
    inside.importScripts = (...urls) =>
      urls.reduce((before, each) => before.then(() => this.load(each)), Promise.resolve());
    this.ready = this.load(url);
  }

  load(url) {
    return new Promise((resolve, reject) => {
      const script = this.frame.contentDocument.createElement("script");
      Object.assign(script, { src: url, onload: resolve, onerror: reject });
      this.frame.contentDocument.body.appendChild(script);
    });
  }

  tell(data) {
    setTimeout(() => {
      const message = new MessageEvent("message", { data });
      this.dispatchEvent(message);
      if (this.onmessage) this.onmessage(message);
    });
  }

  postMessage(given) {
    const inside = this.frame.contentWindow;
    const data = structuredClone(given);
    this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
  }

  terminate() {
    this.frame.remove();
  }
}

if (location.protocol === "file:") window.Worker = WorkerInFrame;
