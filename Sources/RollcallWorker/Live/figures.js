// The charts of the page.

import { Chart } from "./chart.js";

export function charts(parent) {
  return [
    new Chart(parent, { title: "Sessions", lines: [{ of: "sessions", name: "sessions" }] }),
    new Chart(parent, {
      title: "Typing signals",
      unit: "/s",
      lines: [{ of: "signals", name: "received" }, { of: "published", name: "published" }],
    }),
    new Chart(parent, { title: "Deliveries", unit: "/s", lines: [{ of: "delivered", name: "messages" }] }),
    new Chart(parent, {
      title: "Redis, a minute’s round trips",
      unit: "ms",
      lines: [{ of: "p50", name: "p50" }, { of: "p99", name: "p99" }],
    }),
  ];
}
