// Compiled in the browser, so that no build of Angular's own is needed.
import '@angular/compiler';
import {Component, provideZonelessChangeDetection, signal} from '@angular/core';
import {bootstrapApplication} from '@angular/platform-browser';

class Shop {
  items = signal([]);
  constructor() {
    fetch('/api/items').then((r) => r.json()).then((all) => this.items.set(all));
  }
}
Component({
  selector: 'x-shop',
  template: "<h1>made by {{ 'angular' }}</h1><ul>@for (i of items(); track i) {<li>{{ i }}</li>}</ul>",
})(Shop);
bootstrapApplication(Shop, {providers: [provideZonelessChangeDetection()]});
