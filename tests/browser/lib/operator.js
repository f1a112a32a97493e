// Somebody who runs the shop, in a browser that knows the password.

import { expect } from "@playwright/test";

export const OPERATOR = { username: "admin", password: "the operator's password" };

export class Operator {
  constructor(page, shop) {
    this.page = page;
    this.shop = shop;
  }

  async goes(path) {
    return this.page.goto(this.shop.url + path);
  }

  /** Another tab of the same browser. */
  async opensTab() {
    return new Operator(await this.page.context().newPage(), this.shop);
  }

  get heading() {
    return this.page.getByRole("heading", { level: 1 });
  }

  /** With the field of the page. */
  async searches(text) {
    await this.page.getByRole("searchbox").fill(text);
    await this.page.getByRole("button", { name: "Find" }).click();
  }

  /** To the story of the first checkout in the list. */
  async readsStory() {
    await this.page.getByRole("cell").getByRole("link", { name: /^[0-9a-f]{8}-/ }).first().click();
    await expect(this.heading).toHaveText("Checkout");
  }

  /** Until the page says so: much happens a moment later. */
  async waitsFor(path, text) {
    await expect(async () => {
      await this.goes(path);
      await expect(this.page.getByText(text).first()).toBeVisible({ timeout: 100 });
    }).toPass();
  }
}
