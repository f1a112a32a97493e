// A person in front of the shop's pages. Says what they do; a story says what comes of it.

import { expect } from "@playwright/test";

export const WHO = {
  email: "ada@example.org",
  name: "Ada Lovelace",
  address: "12 St James's Square",
  city: "London",
  postal_code: "SW1Y 4LE",
};

export class Visitor {
  constructor(page, shop) {
    this.page = page;
    this.shop = shop;
  }

  async goes(path) {
    return this.page.goto(this.shop.url + path);
  }

  get heading() {
    return this.page.getByRole("heading", { level: 1 });
  }

  get payButton() {
    return this.page.locator("button.button-pay");
  }

  /** Another tab of the same browser. */
  async opensTab() {
    return new Visitor(await this.page.context().newPage(), this.shop);
  }

  /** From the catalog. */
  async putsIntoCart(product) {
    await this.page.getByRole("listitem").filter({ hasText: product }).getByRole("button").click();
    await expect(this.heading).toHaveText("Your cart");
  }

  async putsLampIntoCart() {
    await this.goes("/products/LMP-01");
    await this.page.getByRole("button", { name: "Add to cart" }).click();
    await expect(this.heading).toHaveText("Your cart");
  }

  async opensCheckout() {
    await this.page.getByRole("link", { name: "Check out" }).click();
    await expect(this.payButton).toBeVisible();
  }

  async fillsIn(who = WHO) {
    for (const [name, text] of Object.entries(who)) await this.page.locator(`#${name}`).fill(text);
    await this.page.locator("#country").selectOption("GB");
  }

  /** From the shop's door to a filled form. */
  async getsReadyToPay() {
    await this.putsLampIntoCart();
    await this.opensCheckout();
    await this.fillsIn();
  }

  async chooses(card) {
    await this.page.getByRole("radio", { name: card }).check();
  }

  async pays() {
    await this.payButton.click();
  }

  async isToldThatItIsPaid() {
    await expect(this.heading).toHaveText("Paid");
    await expect(this.page).toHaveURL(/\/checkouts\/[0-9a-f-]{36}$/);
  }

  async isToldToWait() {
    await expect(this.heading).toHaveText("We are checking your payment");
  }

  async isAskedToConfirm() {
    await expect(this.heading).toHaveText("Your bank wants to ask you");
  }

  /** Sends forms with a card that is declined, one after the other. */
  async triesInVain(times) {
    const form = { ...WHO, country: "GB" };
    form.payment_method = await this.page.getByRole("radio", { name: /9995/ }).inputValue();
    for (const shown of ["quoted_total", "quoted_cart"]) {
      form[shown] = await this.page.locator(`[name=${shown}]`).inputValue();
    }
    for (let time = 0; time < times; time++) {
      form.idempotency_key = crypto.randomUUID();
      await this.page.request.post(`${this.shop.url}/checkout`, { form, maxRedirects: 0 });
    }
  }

  /** The key of the form on the page. */
  async key() {
    return this.page.locator("[name=idempotency_key]").inputValue();
  }

  /**
   * Keeps the form as it is now. The shop forbids to keep it, and a browser that does so all the same, as the cache
   * for the Back button of some does, shows it again: `leave()` makes the browser ask anew.
   */
  async keepsForm() {
    const kept = await this.page.request.get(this.page.url());
    const body = (await kept.text()).replace(/(name="idempotency_key" value=")[^"]+/, `$1${await this.key()}`);
    const headers = kept.headers();
    delete headers["content-length"];
    await this.page.route(
      (url) => url.pathname === "/checkout",
      (route) => (route.request().method() === "GET" ? route.fulfill({ status: 200, headers, body }) : route.continue()),
    );
  }
}
