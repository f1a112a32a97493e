// The customer's bank wants to ask the customer, on a page of its own.

import { expect, expectOf, expectOnePurchase, test } from "../lib/test.js";

test.beforeEach(async ({ visitor }) => {
  await visitor.getsReadyToPay();
  await visitor.chooses(/3220/);
  await visitor.pays();
  await visitor.isAskedToConfirm();
});

/** By another name of this machine, so that the way back comes from another site, as from a real bank. */
async function goesToTheBank({ page }) {
  const url = new URL(await page.getByRole("link", { name: "Confirm the payment" }).getAttribute("href"));
  url.hostname = "localhost";
  await page.goto(url.href);
}

test("the customer approves @phone", async ({ visitor, shop }) => {
  const { page } = visitor;
  const status = page.url();
  await goesToTheBank(visitor);
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(visitor.heading).toHaveText("Paid");
  expect(page.url()).toContain(status);
  await expectOnePurchase(shop);
});

test("the customer refuses, and pays with another card @phone", async ({ visitor, shop }) => {
  const { page } = visitor;
  await goesToTheBank(visitor);
  await page.getByRole("button", { name: "Refuse" }).click();
  await expect(visitor.heading).toHaveText("The payment was declined");
  await expectOf(shop, { checkouts: 1, paid: 0 });
  await page.getByRole("link", { name: "Try again" }).click();
  await visitor.chooses(/4242/);
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await expectOf(shop, { checkouts: 2, paid: 1 });
});

test("the customer approves in another tab, and the first one learns of it", async ({ visitor, shop }) => {
  const bank = await visitor.opensTab();
  await bank.page.goto(await visitor.page.getByRole("link", { name: "Confirm the payment" }).getAttribute("href"));
  await bank.page.getByRole("button", { name: "Approve" }).click();
  await expect(bank.heading).toHaveText("Paid");
  await visitor.isToldThatItIsPaid();
  await expectOnePurchase(shop);
});

test("the customer closes the bank's page, and confirms later @phone", async ({ visitor, shop }) => {
  const status = visitor.page.url();
  await goesToTheBank(visitor);
  const tab = await visitor.opensTab();
  await visitor.page.close();
  await tab.page.goto(status);
  await tab.isAskedToConfirm();
  await expectOf(shop, { checkouts: 1, paid: 0, lamps: 1 });
  await goesToTheBank(tab);
  await tab.page.getByRole("button", { name: "Approve" }).click();
  await expect(tab.heading).toHaveText("Paid");
  await expectOnePurchase(shop);
});

test("the customer opens the checkout afresh instead", async ({ visitor, shop }) => {
  const status = visitor.page.url();
  await visitor.goes("/checkout");
  await visitor.isAskedToConfirm();
  expect(visitor.page.url()).toBe(status);
  await expectOf(shop, { checkouts: 1, paid: 0, lamps: 1 });
});
