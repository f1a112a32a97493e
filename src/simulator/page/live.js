// Keeps the parts that change up to date. Nothing depends on it: the page has a link that does the same.

const EVERY_MS = 1000;
const SHARE = 10; // A long ledger takes long to count. It is asked for during a tenth of the time at most.
let pressed = false; // A part that is replaced between press and release would lose the click.
addEventListener("pointerdown", () => (pressed = true));
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => (pressed = false));

// Somebody presses, types or selects something in it.
const isInUse = (part) =>
  pressed || part.contains(document.activeElement) || (!getSelection().isCollapsed && getSelection().containsNode(part, true));

async function look() {
  const answer = await fetch("/", { cache: "no-store" });
  if (!answer.ok) throw new Error(answer.statusText);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const successor = fresh.getElementById(part.id);
    if (successor && !isInUse(part) && successor.outerHTML !== part.outerHTML) part.replaceWith(successor);
  }
}

async function keepLooking() {
  const begin = performance.now();
  if (document.visibilityState === "visible") {
    const refresh = document.getElementById("refresh");
    try {
      await look();
      refresh.textContent = "Live";
      refresh.classList.remove("bad");
    } catch {
      refresh.textContent = "The simulator does not answer";
      refresh.classList.add("bad");
    }
  }
  setTimeout(keepLooking, Math.max(EVERY_MS, SHARE * (performance.now() - begin)));
}

keepLooking();
