// Reload, Back and Forward, which repeat whatever made the page.

import { expect, expectOf, expectOnePurchase, test } from "../lib/test.js";

async function reloadsThreeTimes(visitor) {
  const { page } = visitor;
  const url = page.url();
  const title = await page.title();
  for (let time = 0; time < 3; time++) {
    // The page is what came of a GET, so the browser does not ask whether to send a form again.
    const answer = await page.reload();
    expect(answer.request().method()).toBe("GET");
    expect(answer.status()).toBe(200);
    await expect(page).toHaveURL(url);
    await expect(page).toHaveTitle(title);
  }
}

test("R04: every page on the way is reloaded three times", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.goes("/");
  await reloadsThreeTimes(visitor);
  await visitor.goes("/products/LMP-01");
  await reloadsThreeTimes(visitor);
  await page.getByRole("button", { name: "Add to cart" }).click();
  await expect(visitor.heading).toHaveText("Your cart");
  await reloadsThreeTimes(visitor);
  await expect(page.locator(".quantity")).toHaveValue("1");
  await visitor.opensCheckout();
  await reloadsThreeTimes(visitor);
  await visitor.fillsIn();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await reloadsThreeTimes(visitor);
  await page.getByRole("link", { name: "See your order" }).click();
  await expect(visitor.heading).toHaveText(/^Order /);
  await reloadsThreeTimes(visitor);
  await expectOnePurchase(shop);
});

test("R04: Back, Forward and Back after paying, then another person at the same machine", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.getsReadyToPay();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  const status = page.url();
  await page.goBack();
  await visitor.isToldThatItIsPaid();
  expect(page.url()).toBe(status);
  await page.goForward();
  await visitor.isToldThatItIsPaid();
  await page.goBack();
  await visitor.isToldThatItIsPaid();
  await page.context().clearCookies();
  const answer = await page.reload();
  expect(answer.status()).toBe(404);
  await expect(page.locator("body")).not.toContainText("24.90");
  await page.goBack();
  await expect(page.locator("body")).not.toContainText("24.90");
  await expectOnePurchase(shop);
});

test("R03: Back to a form that the browser kept, submitted again after paying", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.getsReadyToPay();
  await visitor.keepsForm();
  const key = await visitor.key();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  const status = page.url();
  for (let time = 0; time < 2; time++) {
    await page.goBack();
    await expect(visitor.payButton).toBeVisible();
    expect(await visitor.key()).toBe(key);
    await visitor.fillsIn();
    await visitor.pays();
    await visitor.isToldThatItIsPaid();
    expect(page.url()).toBe(status);
  }
  expect(shop.repeats).toBe(2);
  await expectOnePurchase(shop);
});

test("R52: Back into the cart after paying", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.getsReadyToPay();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await page.goBack();
  await page.goBack();
  await expect(page).toHaveURL(`${shop.url}/cart`);
  await expect(page.locator("main")).toContainText("It is empty.");
  await visitor.goes("/checkout");
  await expect(page).not.toHaveURL(/\/checkout$/);
  await expectOnePurchase(shop);
});

test("R04: a stranger sees neither the purchase nor the order", async ({ visitor, stranger, shop }) => {
  await visitor.getsReadyToPay();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  const status = visitor.page.url();
  await visitor.page.getByRole("link", { name: "See your order" }).click();
  await expect(visitor.heading).toHaveText(/^Order /);
  for (const url of [status, visitor.page.url()]) {
    const answer = await stranger.page.goto(url);
    expect(answer.status()).toBe(404);
    await expect(stranger.page).toHaveTitle(/^Error/);
    await expect(stranger.page.locator("body")).not.toContainText(/Ada|ada@|24\.90/);
  }
  await expectOnePurchase(shop);
});

test("a cart that changed in another tab is not bought by the old form", async ({ visitor, shop }) => {
  const { page } = visitor;
  await visitor.getsReadyToPay();
  const other = await visitor.opensTab();
  await other.putsLampIntoCart();
  await visitor.pays();
  await expect(page.getByRole("alert")).toContainText("It was €24.90 and is now €49.80");
  await expect(page).toHaveTitle(/^Error/);
  await expect(page.locator("#name")).toHaveValue("Ada Lovelace");
  await expectOf(shop, { checkouts: 0, paid: 0 });
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await expectOf(shop, { checkouts: 1, paid: 1, lamps: 2 });
});
