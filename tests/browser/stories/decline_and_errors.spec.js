// What is refused, and how one goes on from there.

import { expect, expectOf, expectOnePurchase, test } from "../lib/test.js";

const DECLINED = /0002/;
const GOOD = /Visa •••• 4242/;

test("R17: declined, then paid with another card @phone", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.getsReadyToPay();
  const key = await visitor.key();
  await visitor.chooses(DECLINED);
  await visitor.pays();
  await expect(visitor.heading).toHaveText("The payment was declined");
  await expect(page).toHaveTitle(/^Error/);
  await expect(page.getByRole("alert")).toContainText("You were not charged.");
  await expectOf(shop, { checkouts: 1, paid: 0 });
  await page.getByRole("link", { name: "Try again" }).click();
  await expect(page.getByRole("alert")).toContainText("Nothing was charged for it.");
  await expect(page.locator("#name")).toHaveValue("Ada Lovelace");
  await expect(page.locator("#email")).toHaveValue("ada@example.org");
  await expect(page.locator("#country")).toHaveValue("GB");
  expect(await visitor.key()).not.toBe(key);
  await visitor.chooses(GOOD);
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await expectOf(shop, { checkouts: 2, paid: 1 });
});

test("R17: declined, then Back to the form that the browser kept, with another card", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.getsReadyToPay();
  await visitor.keepsForm();
  const key = await visitor.key();
  await visitor.chooses(DECLINED);
  await visitor.pays();
  await expect(visitor.heading).toHaveText("The payment was declined");
  await page.goBack();
  await visitor.fillsIn();
  await visitor.chooses(GOOD);
  expect(await visitor.key()).toBe(key);
  const answered = page.waitForResponse((response) => response.request().method() === "POST");
  await visitor.pays();
  expect((await answered).status()).toBe(422);
  await expect(visitor.heading).toHaveText("This form was already used");
  await expectOf(shop, { checkouts: 1, paid: 0 });
  await page.unrouteAll();
  await page.getByRole("link", { name: "To the checkout" }).click();
  expect(await visitor.key()).not.toBe(key);
  await visitor.chooses(GOOD);
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await expectOf(shop, { checkouts: 2, paid: 1 });
});

test("R17: declined, then the same card from a form that the browser kept", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.getsReadyToPay();
  await visitor.keepsForm();
  await visitor.chooses(DECLINED);
  await visitor.pays();
  await expect(visitor.heading).toHaveText("The payment was declined");
  const status = page.url();
  await page.goBack();
  await visitor.fillsIn();
  await visitor.chooses(DECLINED);
  await visitor.pays();
  await expect(visitor.heading).toHaveText("The payment was declined");
  expect(page.url()).toBe(status);
  await expectOf(shop, { checkouts: 1, paid: 0 });
});

test("R76: three wrong fields", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.getsReadyToPay();
  const key = await visitor.key();
  await page.locator("#email").fill("not an address");
  await page.locator("#name").fill("");
  await page.locator("#country").selectOption("");
  await visitor.pays();

  await expect(page).toHaveTitle(/^Error/);
  const summary = page.getByRole("alert");
  await expect(summary).toBeFocused();
  for (const field of ["email", "name", "country"]) {
    const input = page.locator(`#${field}`);
    await expect(input).toHaveAttribute("aria-invalid", "true");
    const why = await page.locator(`#${await input.getAttribute("aria-describedby")}`).innerText();
    expect(why).not.toBe("");
    const link = summary.getByRole("link", { name: why });
    await link.click();
    await expect(input).toBeFocused();
  }
  await expect(page.locator("[aria-invalid]")).toHaveCount(3);
  await expect(page.locator("#email")).toHaveValue("not an address");
  await expect(page.locator("#address")).toHaveValue("12 St James's Square");
  await expectOf(shop, { checkouts: 0, paid: 0 });

  await visitor.fillsIn();
  expect(await visitor.key()).toBe(key);
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await expectOnePurchase(shop);
});

test("the last lamps are sold to somebody else meanwhile", async ({ visitor, stranger, shop }) => {
  const { page } = visitor;
  await visitor.goes("/products/LMP-01");
  await page.locator("#quantity").fill("12");
  await page.getByRole("button", { name: "Add to cart" }).click();
  await visitor.opensCheckout();
  await visitor.fillsIn();
  await stranger.getsReadyToPay();
  await stranger.pays();
  await stranger.isToldThatItIsPaid();
  await visitor.pays();
  await expect(page.getByRole("alert")).toContainText("Desk lamp: Only 11 are left.");
  await expect(page.locator("#name")).toHaveValue("Ada Lovelace");
  await expectOnePurchase(shop);
});
