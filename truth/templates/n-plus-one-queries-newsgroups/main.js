// Shows the threads of newsgroups: `threads N` is answered by a line of JSON.
'use strict';
const net = require('node:net');
const readline = require('node:readline');

/** A session with the news server. */
class News {
  constructor() {
    this.socket = net.connect({ host: '127.0.0.1', port: @{news}, noDelay: true });
    this.lines = readline.createInterface({ input: this.socket, crlfDelay: Infinity })[Symbol.asyncIterator]();
    this.welcome = this.status('200');
  }

  async line() {
    const { value, done } = await this.lines.next();
    if (done) throw new Error('the news server hung up');
    return value;
  }

  async status(wanted) {
    const line = await this.line();
    if (!line.startsWith(wanted)) throw new Error(`news server: ${line}`);
    return line.split(' ');
  }

  /** Lines up to the one that is a dot. */
  async text() {
    const lines = [];
    for (let line = await this.line(); line !== '.'; line = await this.line()) lines.push(line);
    return lines;
  }

  async group(name) {
    await this.welcome;
    this.socket.write(`GROUP ${name}\r\n`);
    const [, , first, last] = await this.status('211');
    return { first: Number(first), last: Number(last) };
  }

  async head(number) {
    this.socket.write(`HEAD ${number}\r\n`);
    await this.status('221');
    const fields = new Map((await this.text()).map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]));
    return {
      number,
      subject: fields.get('Subject'),
      from: fields.get('From'),
      id: fields.get('Message-ID'),
      parent: fields.get('References') ?? '',
      lines: Number(fields.get('Lines')),
    };
  }

  async over(first, last) {
    this.socket.write(`OVER ${first}-${last}\r\n`);
    await this.status('224');
    return (await this.text()).map((line) => {
      const [number, subject, from, , id, parent, , lines] = line.split('\t');
      return { number: Number(number), subject, from, id, parent, lines: Number(lines) };
    });
  }

  close() {
    this.socket.destroy();
  }
}

async function @{fnCamel}(news, { first, last }) {
  if ('@{overview}' === 'range') return news.over(first, last);
  const articles = [];
  for (let number = first; number <= last; number++) articles.push(await news.head(number));
  return articles;
}

async function threads(news, group) {
  const found = new Map();
  for (const article of await @{fnCamel}(news, await news.group(group))) {
    const root = article.parent || article.id;
    const thread = found.get(root) ?? { root, subject: article.subject.replace(/^Re: /, ''), articles: 0, lines: 0 };
    thread.articles += 1;
    thread.lines += article.lines;
    thread.last = article.from;
    found.set(root, thread);
  }
  return { group, threads: [...found.values()] };
}

async function serve(socket) {
  const news = new News();
  try {
    for await (const asked of readline.createInterface({ input: socket })) {
      const number = /^threads (\d+)/.exec(asked)?.[1];
      const answer = number ? await threads(news, `@{hierarchy}.g${number % 40}`) : { error: 'what?' };
      socket.write(`${JSON.stringify(answer)}\n`);
    }
  } catch (error) {
    socket.destroy(error);
  } finally {
    news.close();
  }
}

net
  .createServer({ noDelay: true }, (socket) => {
    socket.on('error', (error) => console.error(error.message));
    serve(socket);
  })
  .listen(@{port}, '127.0.0.1');
