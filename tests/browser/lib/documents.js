// What is so of every document that somebody is shown: its HTML is valid, it is small, nothing of it comes from elsewhere, and
// nothing in it moves once it is there.

import { HtmlValidate } from "html-validate";

const RULES = {
  extends: ["html-validate:standard"],
  rules: {
    // How it is written, and not what it means.
    "attribute-boolean-style": "off",
    "attribute-empty-style": "off",
    "attr-quotes": "off",
    "doctype-style": "off",
    "no-trailing-whitespace": "off",
    "void-style": "off",
    "long-title": "off",
  },
};

/** With its style sheets, as they come over the wire. */
const BYTES_MAX = 30 * 1024;

/** The newest document of a page, as the server sent it, and all that was asked for on its behalf. */
export class Documents {
  #page;
  #newest;
  #hosts = new Set();

  constructor(page) {
    this.#page = page;
    page.on("request", (request) => this.#hosts.add(new URL(request.url()).host));
    page.on("response", (response) => {
      const isDocument = response.request().isNavigationRequest() && response.frame() === page.mainFrame();
      const isHtml = (response.headers()["content-type"] ?? "").startsWith("text/html");
      // Whoever has gone on cannot read it any more, and is asked for the next one.
      if (isDocument && isHtml) this.#newest = response.text().catch((error) => `Not to be read: ${error.message}`);
    });
  }

  /** What an HTML validator says against the newest, each with its line. */
  async mistakes() {
    const { results } = await new HtmlValidate(RULES).validateString(await this.#newest);
    return results.flatMap(({ messages }) => messages.map(({ line, message, ruleId }) => `${line}: ${message} (${ruleId})`));
  }

  /** Whom anything was asked of but these. */
  strangers(...known) {
    const hosts = known.map((url) => new URL(url).host);
    return [...this.#hosts].filter((host) => host && !hosts.includes(host));
  }

  /**
   * Whether the page is still as the server sent it, so that whatever is so of it is so without scripts as well. What only
   * scripts show is left out.
   */
  async isAsSent() {
    const isAsSent = (sent) => {
      const [before, now] = [new DOMParser().parseFromString(sent, "text/html"), document].map((page) => {
        const copy = page.documentElement.cloneNode(true);
        copy.querySelector("#keys")?.remove();
        return copy.outerHTML;
      });
      return before === now;
    };
    return this.#page.evaluate(isAsSent, await this.#newest);
  }

  /** Whether it is small, and how large it is. */
  async size() {
    const bytes = await this.#page.evaluate(() => {
      const isStyle = ({ name }) => new URL(name).pathname.endsWith(".css");
      const styles = performance.getEntriesByType("resource").filter(isStyle);
      const all = [...performance.getEntriesByType("navigation"), ...styles];
      return all.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
    });
    return { bytes, isSmall: bytes <= BYTES_MAX };
  }

  /** How far things have moved by themselves, as browsers measure it: https://web.dev/articles/cls. */
  async shift() {
    return this.#page.evaluate(
      () =>
        new Promise((resolve) => {
          const sum = (entries) => entries.filter((it) => !it.hadRecentInput).reduce((sum, { value }) => sum + value, 0);
          const observer = new PerformanceObserver((list) => resolve(sum(list.getEntries())));
          observer.observe({ type: "layout-shift", buffered: true });
          requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum(observer.takeRecords()))));
        }),
    );
  }
}
