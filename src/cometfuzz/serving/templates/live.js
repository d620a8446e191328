// Fills the live page from events. Texts of libraries become text of the page and nothing else; what is on the page
// stays where it is when it changes, so that nobody loses their place in it.
"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const number = new Intl.NumberFormat("en");
  const share = (value) => `${(100 * value).toFixed(1)}%`;
  const plural = (count, one, many = `${one}s`) => `${number.format(count)} ${count === 1 ? one : many}`;

  const make = (name, text = "", kind = "") => {
    const element = document.createElement(name);
    if (text !== "") element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const draw = (name, attributes) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const say = (element, text) => { if (element.textContent !== text) element.textContent = text; };
  // The children of a parent, one for each item, by its key: what is there already is kept.
  const keep = (parent, items, key, create, update = () => {}) => {
    const there = new Map([...parent.children].map((child) => [child.dataset.key, child]));
    let before = parent.firstElementChild;
    for (const item of items) {
      const name = String(key(item));
      let child = there.get(name);
      if (child) there.delete(name);
      else {
        child = create(item);
        child.dataset.key = name;
      }
      update(child, item);
      if (child === before) before = before.nextElementSibling;
      else parent.insertBefore(child, before);
    }
    for (const child of there.values()) child.remove();
  };
  const meter = (name) => {
    const element = make("div", "", "meter");
    const picture = draw("svg", { viewBox: "0 0 1000 12", preserveAspectRatio: "none", role: "img" });
    picture.append(draw("rect", { class: "track", width: 1000, height: 12, rx: 6 }), draw("rect", { class: "fill a", width: 0, height: 12, rx: 6 }));
    element.append(make("span", name), picture, make("strong"));
    return element;
  };
  const fill = (element, value, text, label, kind = "a") => {
    const [, bar] = element.querySelectorAll("rect");
    bar.setAttribute("class", `fill ${kind}`);
    bar.setAttribute("width", Math.round(1000 * Math.min(Math.max(value, 0), 1)));
    element.querySelector("svg").setAttribute("aria-label", label);
    say(element.querySelector("strong"), text);
  };
  const row = (count) => {
    const line = make("tr");
    const head = make("th");
    head.scope = "row";
    line.append(head);
    for (let place = 0; place < count; place += 1) line.append(make("td", "", "number"));
    return line;
  };

  const announcements = document.getElementById("announcements");
  const announce = (text) => {
    announcements.append(make("span", `${text}. `));
    while (announcements.children.length > 5) announcements.firstElementChild.remove();
  };

  class Campaign {
    constructor(element) {
      this.element = element;
      this.place = element.dataset.place;
      this.known = null;
      this.parts = new Map([...element.querySelectorAll("[data-is]")].map((part) => [part.dataset.is, part]));
    }

    part(name) { return this.parts.get(name); }

    say(name, text) { say(this.part(name), text); }

    show(name, wanted) { this.part(name).toggleAttribute("hidden", !wanted); }

    problem(text) {
      this.say("problem", text);
      this.show("problem", text !== "");
    }

    take(told) {
      this.problem(told.problem);
      if (told.done === undefined) return;
      this.element.setAttribute("aria-busy", told.reading ? "true" : "false");
      this.head(told);
      this.tiles(told);
      this.findings(told);
      this.coverage(told.coverage);
      this.bugs(told);
      this.routes(told.routes);
      this.operators(told.operators);
      this.machines(told);
      this.show("notices-card", told.notices.length > 0);
      keep(this.part("notices"), [...new Set(told.notices)].reverse(), (text) => text, (text) => make("li", text, "wide"));
    }

    head(told) {
      this.say("name", told.name);
      this.say("state", told.reading ? `reading case ${number.format(told.reading[0])} of ${number.format(told.reading[1])}` : told.state);
      this.part("state").classList.toggle("running", told.running);
      const left = told.running && told.left ? `, ${told.left} left` : "";
      this.say("about", [...told.about, `${told.elapsed} gone${left}`].join(", "));
      const bounded = told.running && told.progress !== null;
      this.show("progress", bounded);
      if (bounded) {
        this.part("progress").querySelector("progress").value = told.progress;
        say(this.part("progress").querySelector("span"), `${Math.floor(100 * told.progress)}%`);
      }
      this.say("last", told.last);
    }

    tiles(told) {
      this.say("done", number.format(told.done));
      this.say("done-note", told.of ? `of ${number.format(told.of)} cases` : told.done === 1 ? "case" : "cases");
      this.say("rate", (told.running ? told.recent_rate : told.rate).toFixed(1));
      this.say("rate-note", told.running ? `, ${told.rate.toFixed(1)} overall` : "");
      this.say("kinds", number.format(told.distinct));
      this.say("kinds-note", `kinds of findings, ${told.lately} new in ${told.running ? "the" : "its"} last 10 min`);
      this.say("left", told.estimate ? `≈ ${told.estimate.left.toFixed(0)}` : "–");
      this.say("left-note", told.estimate ? `kinds left, give or take ${told.estimate.error.toFixed(0)} (Chao's estimate)` : "kinds left: no estimate yet");
      const top = Math.max(...told.speeds, 1e-9);
      this.show("speeds", told.running);
      keep(this.part("speeds"), told.speeds.map((speed, place) => ({ speed, place })), (each) => each.place,
        (each) => draw("rect", { x: 10 * each.place, width: 8, rx: 1 }),
        (bar, each) => {
          const height = Math.max(24 * each.speed / top, .5);
          bar.setAttribute("y", 24 - height);
          bar.setAttribute("height", height);
        });
    }

    findings(told) {
      const others = told.not_counted.map(([name, count]) => `${name} ${number.format(count)}`).join(", ");
      this.say("findings-note", !told.found && !others ? "" : `${number.format(told.found)} in all${others ? `; not counted: ${others}` : ""}`);
      keep(this.part("symptoms"), told.symptoms, ([name]) => name, () => make("span", "", "pill"),
        (pill, [name, distinct, total]) => say(pill, `${name} ${distinct}/${total}`));
      this.show("no-findings", told.latest.length === 0);
      this.show("latest", told.latest.length > 0);
      const known = this.known;
      const fresh = [];
      keep(this.part("latest"), told.latest, (each) => each.id, (each) => {
        if (known && !known.has(each.id)) fresh.push(each);
        return this.finding(each, known !== null);
      }, (item, each) => this.link(item.querySelector("p"), each));
      if (!told.reading) this.known = new Set(told.latest.map((each) => each.id));
      if (fresh.length > 3) announce(`${this.element.getAttribute("aria-label")}: ${fresh.length} new findings`);
      else for (const each of fresh.reverse()) announce(`New finding: ${each.symptom}, ${each.place}`);
    }

    finding(each, fresh) {
      const item = make("li", "", fresh ? "fresh" : "");
      const line = make("p");
      line.append(make("span", each.symptom, "pill new"));
      if (each.data !== "ordinary") line.append(" ", make("span", each.data, `pill ${each.data}`));
      line.append(" ", make("span", each.place, "where"));
      item.append(make("time", each.at), line, make("p", each.detail, "detail"));
      item.lastElementChild.title = each.detail;
      return item;
    }

    link(line, each) {
      const where = line.querySelector(".where");
      if (!each.bug || where.querySelector("a")) return;
      const link = make("a", each.place);
      link.href = `${this.place}/bugs/${encodeURIComponent(each.bug)}/index.html`;
      where.replaceChildren(link);
    }

    coverage(spaces) {
      this.show("published", spaces.some((space) => space.criteria.some((each) => each.published !== null)));
      keep(this.part("coverage"), spaces, (space) => space.name, (space) => {
        const group = make("div");
        group.append(make("h4", `${space.name} space`), make("div", "", "meters"));
        return group;
      }, (group, space) => keep(group.lastElementChild, space.criteria, (each) => each.name, (each) => {
        const made = meter(each.name);
        if (each.published !== null) {
          made.querySelector("svg").append(draw("rect", { class: "mark", x: Math.round(1000 * each.published), width: 4, height: 12 }));
        }
        return made;
      }, (made, each) => {
        const value = each.covered / each.total;
        const beside = each.published === null ? "" : `; the paper covers ${share(each.published)}`;
        fill(made, value, share(value), `${number.format(each.covered)} of ${number.format(each.total)} ${each.name} are covered${beside}`,
          { inputs: "a", parameters: "b", sequences: "c" }[each.name]);
      }));
    }

    bugs(told) {
      const branches = told.branches;
      this.say("branches", branches.total ? `branches ${share(branches.covered / branches.total)}` : "");
      this.show("no-bugs", told.bugs.length === 0);
      keep(this.part("bugs"), told.bugs, (bug) => bug.id, (bug) => {
        const item = make("li");
        const link = make("a", bug.title);
        link.href = `${this.place}/bugs/${encodeURIComponent(bug.id)}/index.html`;
        item.append(link, make("div"));
        return item;
      }, (item, bug) => {
        const pills = [[bug.standing, bug.standing], [bug.severity, ""], [bug.data, bug.data === "ordinary" ? "" : bug.data], [bug.library || "no library", ""]];
        if (bug.seen > 1) pills.push([`seen ${number.format(bug.seen)} times`, ""]);
        keep(item.lastElementChild, pills.filter(([text]) => text !== "ordinary"), ([text]) => text,
          ([text, kind]) => make("span", text, `pill ${kind}`));
      });
      const more = told.bug_count - told.bugs.length;
      say(this.part("report"), more > 0 ? `The whole report, with ${plural(more, "more bug")}` : "The whole report");
    }

    routes(routes) {
      const running = routes.filter((each) => each.runs > 0).length;
      this.say("routes-note", `${running} of ${routes.length} have run`);
      keep(this.part("routes"), routes, (each) => each.name, (each) => {
        const line = row(10);
        line.firstElementChild.textContent = each.name;
        return line;
      }, (line, each) => {
        const off = each.available ? "" : "unavailable";
        const texts = [each.runs, each.runs ? share(each.completed / each.runs) : off, each.raised, each.died, each.hung, each.other,
          each.not_reached, each.covered === null ? "" : share(each.covered), each.median_ms === null ? "" : each.median_ms.toFixed(0), each.restarts];
        texts.forEach((text, place) => {
          const cell = line.children[place + 1];
          say(cell, typeof text === "number" ? (text || place === 0 ? number.format(text) : "") : text);
          cell.classList.toggle("bad", place >= 2 && place <= 5 && Number(text) > 0);
        });
        if (off) say(line.children[10], off);
      });
    }

    operators(operators) {
      this.show("operators-card", operators.length > 0);
      keep(this.part("operators"), operators, (each) => each.name, (each) => meter(each.name), (made, each) =>
        fill(made, each.fitness, `${number.format(Math.round(each.attempts))} tries`, `${each.name}: fitness ${each.fitness.toFixed(2)}`));
    }

    machines(told) {
      this.show("no-sessions", told.sessions.length === 0);
      keep(this.part("sessions"), told.sessions.map((each, place) => ({ ...each, place })), (each) => each.place, () => {
        const line = row(4);
        for (const cell of line.querySelectorAll("td")) cell.className = "wide";
        return line;
      }, (line, each) => {
        const jobs = each.jobs === null ? "" : `; ${plural(each.jobs, "job")}`;
        const texts = [each.campaign || `${each.place + 1}`, number.format(each.first), `${each.machine || "not recorded"}${jobs}`, each.cometfuzz, each.ended || "not yet"];
        texts.forEach((text, place) => say(line.children[place], text));
      });
      this.show("nodes-card", told.nodes.length > 0);
      keep(this.part("nodes"), told.nodes, (each) => each.name, (each) => {
        const line = row(2);
        line.firstElementChild.textContent = each.name;
        line.lastElementChild.className = "wide";
        return line;
      }, (line, each) => {
        say(line.children[1], number.format(each.parts));
        say(line.lastElementChild, each.facts.map(([name, value]) => `${name}: ${value}`).join("; "));
      });
      keep(this.part("versions"), told.versions.flatMap(([name, version]) => [["dt", name, name], ["dd", name, version]]),
        ([kind, name]) => `${kind} ${name}`, ([kind]) => make(kind), (element, [, , text]) => say(element, text));
    }

    curves(told) {
      const [counted, done] = told.counted;
      this.say("curves-note", counted < done ? `of routes: counted up to case ${number.format(counted)} of ${number.format(done)}` : "of routes: of the full space, what can be reached");
      const all = [...Object.entries(told.spaces).map(([name, points]) => ({ name, points, kind: "space" })),
        ...Object.entries(told.routes).map(([name, points]) => ({ name, points, kind: "" }))];
      const far = Math.max(1, ...all.map((each) => each.points.at(-1)[0]));
      const high = Math.max(.01, ...all.flatMap((each) => each.points.map(([, value]) => value)));
      keep(this.part("curves"), all, (each) => `${each.kind} ${each.name}`, (each) => {
        const figure = make("figure", "", each.kind);
        const caption = make("figcaption");
        caption.append(make("span", each.name), make("strong"));
        caption.firstElementChild.title = each.name;
        const picture = draw("svg", { viewBox: "0 0 100 30", preserveAspectRatio: "none", role: "img" });
        picture.append(draw("path", {}));
        figure.append(caption, picture);
        return figure;
      }, (figure, each) => {
        const points = [...each.points, [far, each.points.at(-1)[1]]];
        const path = points.map(([x, y]) => `${(100 * x / far).toFixed(2)} ${(29 - 27 * y / high).toFixed(2)}`).join(" L");
        const last = share(each.points.at(-1)[1]);
        figure.querySelector("path").setAttribute("d", `M${path}`);
        figure.querySelector("svg").setAttribute("aria-label", `${each.name}: ${last} covered at the end of the curve`);
        say(figure.querySelector("strong"), last);
      });
    }
  }

  const campaigns = [...document.querySelectorAll(".campaign")].map((element) => new Campaign(element));
  const connection = document.getElementById("connection");
  const connected = (text, kind) => {
    say(connection, text);
    connection.className = `pill ${kind}`;
  };
  const title = () => {
    const kinds = campaigns.reduce((sum, each) => sum + (each.distinct ?? 0), 0);
    document.title = `${plural(kinds, "kind")} of findings: ${campaigns.map((each) => each.part("name").textContent).join(", ")}`;
  };

  const events = new EventSource("events");
  events.addEventListener("open", () => connected("connected", "live"));
  events.addEventListener("error", () => connected(events.readyState === EventSource.CLOSED ? "ended" : "connection lost, trying again", "lost"));
  events.addEventListener("over", () => {
    events.close();
    connected("ended", "lost");
  });
  events.addEventListener("numbers", (event) => {
    const told = JSON.parse(event.data);
    const campaign = campaigns[told.place];
    campaign.distinct = told.distinct;
    campaign.take(told);
    title();
  });
  events.addEventListener("curves", (event) => {
    const told = JSON.parse(event.data);
    campaigns[told.place].curves(told);
  });
})();
