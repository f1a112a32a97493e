// Nothing depends on it: the pages have links that do the same.

// On stage, one key goes on, and one goes back.
const WAYS = { " ": "next", ArrowRight: "next", PageDown: "next", ArrowLeft: "prev", PageUp: "prev" };

addEventListener("keydown", (event) => {
  const way = document.querySelector(`a[rel="${WAYS[event.key]}"]`);
  const isAtWork = event.target.matches("a, button, input, select") || event.altKey || event.ctrlKey || event.metaKey;
  if (!way || isAtWork) return;
  event.preventDefault();
  way.click();
});

document.getElementById("keys")?.classList.add("is-on");

// What happens to a checkout is shown while it happens.
const live = document.querySelector("[data-live]");

async function look() {
  const answer = await fetch(location.href, { cache: "no-store" });
  if (!answer.ok) throw new Error(answer.statusText);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(live.id);
  const isInUse = live.contains(document.activeElement);
  if (fresh && !isInUse && fresh.innerHTML !== live.innerHTML) live.replaceChildren(...fresh.childNodes);
}

if (live) {
  const told = document.getElementById("live");
  const news = new EventSource(live.dataset.live);
  news.onopen = () => {
    told.textContent = "Live";
    look(); // Something may have happened since the page was made.
  };
  news.onmessage = look;
  news.onerror = () => (told.textContent = "The shop does not answer");
  addEventListener("pagehide", () => news.close());
}
