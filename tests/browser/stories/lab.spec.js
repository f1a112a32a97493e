// The lab: a scenario is played and looked at, on a desk, on a phone and on a stage; and what happens by hand is seen.

import { expect, expectOf, test } from "../lib/test.js";

const ONCE = "As it should be: 1 charge, 1 order, 1 unit sold and 1 mail.";
const CHARGED_TWICE = "The customer has paid twice: 2 charges instead of 1, 1 order, 1 unit sold and 1 mail.";
const EVERYTHING_TWICE = "2 charges instead of 1, 2 orders instead of 1, 2 units sold instead of 1 and 2 mails instead of 1.";

/** What each scenario comes to: without the guard, and with it. */
const SCENARIOS = {
  "Double click": [`The customer has paid twice: ${EVERYTHING_TWICE}`, ONCE],
  "Dropped response": [CHARGED_TWICE, ONCE],
  "Crash after the charge": [CHARGED_TWICE, ONCE],
  "Webhook twice": [
    "The customer has been told twice: 1 charge, 1 order, 1 unit sold and 2 mails instead of 1.",
    ONCE,
  ],
  "Webhook before the response": [
    "The customer has paid for nothing: 1 charge, no order instead of 1, no unit sold instead of 1 and no mail instead of 1.",
    ONCE,
  ],
  "Out-of-order events": [
    "The customer has paid for nothing: 1 charge, no order instead of 1, no unit sold instead of 1 and 1 mail.",
    ONCE,
  ],
  "New form after an error": [CHARGED_TWICE, ONCE],
  "Last unit": [`2 customers have paid for 1 unit: ${EVERYTHING_TWICE}`, ONCE],
  "Mail server down": [
    "The customer has not been told: 1 charge, 1 order, 1 unit sold and no mail instead of 1.",
    ONCE,
  ],
  "Refund twice": [
    "The shop has given money back twice: 1 charge, 2 refunds instead of 1, 1 order, 1 unit sold and 3 mails instead of 2.",
    "As it should be: 1 charge, 1 refund, 1 order, 1 unit sold and 2 mails.",
  ],
  "Expired key": [CHARGED_TWICE, ONCE],
};

/** Plays a scenario from the lab's page to its end. */
async function plays({ page }, scenario) {
  await page.getByRole("radio", { name: scenario }).check();
  await page.getByRole("button", { name: "Play it" }).click();
  await expect(page.getByRole("heading", { name: "The two ledgers" })).toBeVisible();
}

test("a teacher plays a double click, and reads what it came to @phone", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.goes("/");
  await page.getByRole("link", { name: "Lab" }).click();
  await expect(visitor.heading).toHaveText("Lab");
  await plays(visitor, /^Double click/);
  await expect(page.getByText("The customer has paid twice: 2 charges instead of 1")).toBeVisible();
  await expect(page.getByText("As it should be: 1 charge, 1 order, 1 unit sold and 1 mail.")).toBeVisible();
  const naive = page.getByRole("list", { name: "Naive" });
  await expect(naive.getByText("charge, with a fresh key")).toHaveCount(2);
  const safe = page.getByRole("list", { name: "Safe" });
  await expect(safe.getByText("charge, with the key of the form")).toHaveCount(1);

  // The other click finds that the insert has been done.
  await safe.getByRole("link", { name: "insert checkouts" }).first().click();
  await expect(visitor.heading).toHaveText("src/checkout/submit.rs");
  await expect(page.locator("#at")).toBeInViewport();
  await expectOf(shop, { checkouts: 1, paid: 1, charged: 1, lamps: 0 });
});

for (const [scenario, verdicts] of Object.entries(SCENARIOS)) {
  test(`${scenario}: the naive checkout fails, and the safe one does not`, async ({ visitor, shop }) => {
    const { page } = visitor;
    await visitor.goes("/lab");
    await plays(visitor, new RegExp(`^${scenario}`));
    for (const [place, name] of ["Naive", "Safe"].entries()) {
      const verdict = page.getByRole("region", { name: `${name}: what it came to` });
      await expect(verdict.getByRole("paragraph")).toHaveText(verdicts[place]);
      await expect(page.getByRole("list", { name }).getByRole("listitem").first()).toContainText("browser to shop");
    }
    await expectOf(shop, { checkouts: 1, paid: 1, lamps: 0 });
  });
}

test("every scenario that is offered is told here", async ({ visitor }) => {
  await visitor.goes("/lab");
  const titles = await visitor.page.locator("[name=scenario] + label").evaluateAll((labels) =>
    labels.map((label) => label.firstChild.textContent.trim()));
  expect(titles).toEqual(Object.keys(SCENARIOS));
});

test("on stage one key goes on, and one goes back", { tag: "@scripts" }, async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.goes("/lab");
  await plays(visitor, /^Dropped response/);
  await page.getByRole("link", { name: "Step by step" }).click();
  const shown = page.getByRole("list", { name: "Naive" }).getByRole("listitem");
  /** Each step is a page of its own, whose script has to have come before it hears a key. */
  const listensAt = async (step) => {
    await expect(shown).toHaveCount(step);
    await expect(page.getByText(/goes (on|back)/)).toBeVisible();
  };
  await listensAt(0);
  await page.keyboard.press("Space");
  await listensAt(1);
  await page.keyboard.press("ArrowRight");
  await listensAt(2);
  await page.keyboard.press("ArrowLeft");
  await listensAt(1);
  await expectOf(shop, { checkouts: 1, paid: 1, lamps: 0 });
});

test("without scripts the stage has links @phone", async ({ visitor, shop, javaScriptEnabled }) => {
  const { page } = visitor;
  await visitor.goes("/lab");
  await plays(visitor, /^Last unit/);
  await page.getByRole("link", { name: "Step by step" }).click();
  await expect(page.getByText("Nothing has happened yet.")).toHaveCount(2);
  const listens = javaScriptEnabled !== false;
  await expect(page.getByText(/goes (on|back)/)).toBeVisible({ visible: listens });
  await page.getByRole("link", { name: "All of it" }).click();
  await expect(page.getByRole("heading", { name: "The two ledgers" })).toBeVisible();
  await page.getByRole("link", { name: "Step by step" }).click();
  const at = page.getByText(/^\d+ of \d+$/);
  await expect(at).toHaveText(/^0 of/);
  const steps = Number((await at.textContent()).split(" of ")[1]);
  for (let step = 1; step <= steps; step += 1) {
    await page.getByRole("link", { name: "Next step" }).click();
    await expect(at).toHaveText(`${step} of ${steps}`);
  }
  await expect(page.getByText("As it should be: 1 charge")).toBeVisible();
  await page.getByRole("link", { name: "All of it" }).click();
  await expect(page.getByRole("heading", { name: "The two ledgers" })).toBeVisible();
  await expectOf(shop, { checkouts: 1, paid: 1, lamps: 0 });

  await page.goBack();
  await page.getByRole("button", { name: "Forget every purchase" }).click();
  await expect(visitor.heading).toHaveText("Lab");
  await expectOf(shop, { checkouts: 0, paid: 0, lamps: 0 });
});

test("a fault is armed by hand, and the timeline shows how the shop got past it @phone", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.goes("/lab");
  await page.getByRole("button", { name: "Lose the next answer" }).click();
  await expect(page.getByText("drop_response on payment_intents.create")).toBeVisible();
  await visitor.getsReadyToPay();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  const { pathname } = new URL(page.url());
  await visitor.goes(`/lab${pathname}`);
  await expect(page.getByText("no answer")).toBeVisible();
  await expect(page.getByText("200 succeeded, replayed")).toBeVisible();
  await expectOf(shop, { checkouts: 1, paid: 1 });
});

test("the timeline goes on while somebody looks", { tag: "@scripts" }, async ({ visitor, shop }) => {
  await visitor.getsReadyToPay();
  await visitor.chooses(/3220/);
  await visitor.pays();
  await visitor.isAskedToConfirm();
  const tab = await visitor.opensTab();
  await tab.goes(`/lab${new URL(visitor.page.url()).pathname}`);
  await expect(tab.page.getByText("Live", { exact: true })).toBeVisible();
  await expect(tab.page.getByText("mail sent")).toHaveCount(0);
  await visitor.page.getByRole("link", { name: "Confirm the payment" }).click();
  await visitor.page.getByRole("button", { name: "Approve" }).click();
  await expect(visitor.heading).toHaveText("Paid");
  await expect(tab.page.getByText("mail sent")).toBeVisible();
  await expectOf(shop, { checkouts: 1, paid: 1 });
});

test("one press forgets every purchase @phone", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.getsReadyToPay();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await visitor.goes("/lab");
  await expect(page.getByText("There is no way back.")).toBeVisible();
  await page.getByRole("button", { name: "Forget every purchase" }).click();
  await expect(visitor.heading).toHaveText("Lab");
  await expectOf(shop, { checkouts: 0, paid: 0 });
});
