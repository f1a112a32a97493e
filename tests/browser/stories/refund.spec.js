// Money goes back to a customer, from the operator's pages.

import { expect, expectOf, test } from "../lib/test.js";

async function buys(visitor) {
  await visitor.getsReadyToPay();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
}

async function opensForm(operator) {
  await operator.goes("/admin/orders");
  await operator.page.getByRole("cell").getByRole("link", { name: /^[0-9A-Z]{4}-/ }).first().click();
  await operator.page.getByRole("link", { name: "Give money back" }).click();
  await expect(operator.heading).toHaveText("Give money back");
}

async function givesBack(operator, amount) {
  if (amount) await operator.page.locator("#amount").fill(amount);
  await operator.page.getByRole("button", { name: "Give back" }).click();
}

test("a part, and then the rest with the goods @phone", async ({ visitor, operator, shop }) => {
  await buys(visitor);
  await opensForm(operator);
  await givesBack(operator, "10.00");
  await expect(operator.heading).toHaveText("Given back");
  await expectOf(shop, { checkouts: 1, paid: 1 });

  await operator.page.getByRole("link", { name: "All refunds of this order, and another one" }).click();
  await operator.page.getByRole("checkbox", { name: /Put the goods back/ }).check();
  await givesBack(operator);
  await expect(operator.heading).toHaveText("Given back");
  await operator.page.getByRole("link", { name: "All refunds of this order, and another one" }).click();
  await expect(operator.page.getByText("Nothing is left to give back")).toBeVisible();
  await expectOf(shop, { checkouts: 1, paid: 1, lamps: 0 });

  await visitor.page.getByRole("link", { name: "See your order" }).click();
  await expect(visitor.page.getByText("Refunded", { exact: true })).toBeVisible();
});

test("the provider's answer is lost @phone", async ({ visitor, operator, shop }) => {
  await buys(visitor);
  await shop.fault({ on: { operation: "refunds.create" }, fault: "drop_response", times: 10 });
  await shop.losesWebhooks();
  await opensForm(operator);
  await givesBack(operator, "10.00");
  await expect(operator.heading).toHaveText("The provider is being asked");
  await shop.findsTouch();
  await expect(operator.heading).toHaveText("Given back", { timeout: 30_000 });
  await expectOf(shop, { checkouts: 1, paid: 1 });
});

test("R61: a form that was opened before another refund was made", async ({ visitor, operator, shop }) => {
  await buys(visitor);
  await opensForm(operator);
  const other = await operator.opensTab();
  await opensForm(other);
  await givesBack(other, "10.00");
  await expect(other.heading).toHaveText("Given back");
  await givesBack(operator, "10.00");
  await expect(operator.page.getByRole("alert")).toContainText("Nothing was given back");
  await expect(operator.page).toHaveTitle(/^Error/);
  await expectOf(shop, { checkouts: 1, paid: 1 });
});

test("an amount that is none is said to be none, and what was typed stays", async ({ visitor, operator, shop }) => {
  await buys(visitor);
  await opensForm(operator);
  for (const amount of ["0", "-1", "0.001", "1e3", "ten"]) {
    await givesBack(operator, amount);
    await expect(operator.page).toHaveTitle(/^Error/);
    await expect(operator.page.locator("#amount")).toHaveValue(amount);
    await expect(operator.page.locator("#amount")).toHaveAttribute("aria-invalid", "true");
  }
  await expectOf(shop, { checkouts: 1, paid: 1 });
});
