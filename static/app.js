// Says that a form is on its way. Nothing depends on it: the button stays enabled, a second click is sent too, and
// the server makes one purchase of both.

const idle = new Map(); // From a busy button to what it said before.

addEventListener("submit", (event) => {
  const label = event.target.dataset.busyLabel;
  const button = event.submitter ?? event.target.querySelector("button");
  if (!label || !button || idle.has(button)) return;
  idle.set(button, [...button.childNodes]);
  button.replaceChildren(label);
  button.setAttribute("aria-disabled", "true");
});

// The browser's Back button may bring the page back as it was left, with its button still busy.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const [button, content] of idle) {
    button.replaceChildren(...content);
    button.removeAttribute("aria-disabled");
  }
  idle.clear();
});
