// One function for each package: given its require and its environment's folder, it returns a function that opens a set of patterns, which returns one that
// asks a key. Each calls the package's own code and adds no rule of its own.
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

export class Limit extends Error {}

const where = (patterns, matches) => [...patterns.keys()].filter((place) => matches(patterns[place], place));
const pairs = (matches) => (patterns) => (key) => where(patterns, (pattern) => matches(pattern, key));

// Every pattern is a listener of one emitter: those that are called for a key are the answer.
const listening = (open) => (patterns) => {
  let found = [];
  const emit = open(patterns, (place) => found.push(place));
  return (key) => {
    found = [];
    const done = emit(key);
    return done instanceof Promise ? done.then(() => found) : found;
  };
};

// A double of RabbitMQ for tests: a queue for each pattern, and a message for the key.
const queues = (connect) => async (patterns) => {
  const channel = await connect();
  await channel.assertExchange("e", "topic");
  for (const [place, pattern] of patterns.entries()) {
    await channel.assertQueue(`q${place}`);
    await channel.bindQueue(`q${place}`, "e", pattern);
  }
  return async (key) => {
    channel.publish("e", key, Buffer.from("x"));
    await new Promise(setImmediate); // a double may deliver when the publisher is done, as a broker does
    const found = [];
    for (const place of patterns.keys()) if (await channel.get(`q${place}`, { noAck: true })) found.push(place);
    return found;
  };
};

export const adapters = {
  qlobber: (require) => {
    const { Qlobber } = require("qlobber");
    const options = { separator: ".", wildcard_one: "*", wildcard_some: "#", match_empty_levels: true };
    return (patterns) => {
      const tree = new Qlobber(options);
      const within = (call) => {
        try {
          return call();
        } catch (error) {
          if (/too many/.test(error.message)) throw new Limit(error.message); // max_words and max_wildcard_somes
          throw error;
        }
      };
      patterns.forEach((pattern, place) => within(() => tree.add(pattern, place)));
      return (key) => within(() => tree.match(key));
    };
  },
  mqemitter: (require) => {
    const mqemitter = require("mqemitter");
    return listening((patterns, heard) => {
      const emitter = mqemitter({ separator: "/", wildcardOne: "+", wildcardSome: "#" });
      patterns.forEach((pattern, place) =>
        emitter.on(pattern, (_, done) => {
          heard(place);
          done();
        }),
      );
      return (key) => new Promise((resolve) => emitter.emit({ topic: key }, resolve));
    });
  },
  "mqtt-match": (require) => pairs(require("mqtt-match")),
  "mqtt-pattern": (require) => pairs(require("mqtt-pattern").matches),
  "mqtt-regex": (require) => {
    const compile = require("mqtt-regex");
    return pairs((pattern, key) => Boolean(compile(pattern).exec(key)));
  },
  "mqtt-emitter": (require) => {
    const Emitter = require("mqtt-emitter");
    return listening((patterns, heard) => {
      const emitter = new Emitter();
      patterns.forEach((pattern, place) => emitter.on(pattern, () => heard(place)));
      return (key) => void emitter.emit(key, "x");
    });
  },
  "mqtt-wildcard": (require) => {
    const wildcard = require("mqtt-wildcard");
    return pairs((pattern, key) => wildcard(key, pattern) !== null);
  },
  smqp: (require) => {
    const { getRoutingKeyPattern } = require("smqp");
    return pairs((pattern, key) => getRoutingKeyPattern(pattern).test(key));
  },
  "@onify/fake-amqplib": (require) => {
    const fake = require("@onify/fake-amqplib");
    return queues(async () => {
      fake.resetMock();
      return (await fake.connect("amqp://localhost")).createChannel();
    });
  },
  "mock-amqplib": (require) => {
    const mock = require("mock-amqplib");
    return queues(async () => {
      mock.reset?.();
      return (await mock.connect("amqp://localhost")).createChannel();
    });
  },
  "amqp-match": (require) => {
    const match = require("amqp-match");
    return pairs((pattern, key) => match(key, pattern));
  },
  "fake-amqp": (require) => {
    // Its router alone: bindings, and the choice of those that a message of a topic exchange goes to.
    const Router = require("fake-amqp/lib/MockRouter");
    return (patterns) => {
      const router = Object.create(Router.prototype);
      Object.assign(router, { _bindings: [], _allQueues: [], _allExchanges: [] });
      router.exchangeExists = () => true;
      let found = [];
      router._sendDataToSubscribers = (bindings) => (found = bindings.map((binding) => binding.obj?.place ?? binding.place));
      patterns.forEach((pattern, place) => router.bindObj({ place }, "e", pattern));
      return (key) => {
        found = [];
        router._publishTopic({ name: "e" }, "x", key, {});
        return found;
      };
    };
  },
  "@sap/xb-msg-mqtt-v311": (require) => {
    const { Matcher } = require("@sap/xb-msg-mqtt-v311/lib/tools/matcher.js");
    return (patterns) => {
      const asked = patterns.map((pattern) => {
        const [topics, filters] = [[], []];
        const error = Matcher.acceptFilter(pattern, topics, filters);
        if (error) throw error;
        if (topics.length) return (key) => key === pattern;
        const expression = Matcher.filterToRegExp(pattern);
        return (key) => Matcher.matchOnRegExp(expression, key);
      });
      return (key) => where(patterns, (_, place) => asked[place](key));
    };
  },
  "@node-red/nodes": (require) => {
    // The function is private to the MQTT node: its text is cut out of the file and evaluated, at its own place of the file.
    const filename = require.resolve("@node-red/nodes/core/network/10-mqtt.js");
    const text = readFileSync(filename, "utf8");
    const begin = text.indexOf("function matchTopic");
    const source = text.slice(begin, text.indexOf("\n    }\n", begin) + 6);
    const before = text.slice(0, begin - 1).replace(/[^\n]/g, " ");
    return pairs(runInThisContext(`${before}(${source})`, { filename }));
  },
  "nats-micro": (require, folder) => {
    const { TokenEventEmitter } = require(`${folder}/node_modules/nats-micro/lib/cjs/tokenEventEmitter.js`);
    return listening((patterns, heard) => {
      const emitter = new TokenEventEmitter();
      patterns.forEach((pattern, place) => emitter.on(pattern, () => heard(place)));
      return (key) => void emitter.emit(key, "x");
    });
  },
  "nats-hemera": (require) => {
    const Util = require("nats-hemera/lib/util.js");
    return pairs((pattern, key) => {
      const topic = Util.natsWildcardToRegex(pattern);
      return topic instanceof RegExp ? topic.test(key) : topic === key;
    });
  },
  "mock-nats-client": (require) => {
    const Client = require("mock-nats-client/lib/MockNatsClient.js");
    return listening((patterns, heard) => {
      const client = new Client();
      patterns.forEach((pattern, place) => client.subscribe(pattern, () => heard(place)));
      return (key) => client.publish(key, "x");
    });
  },
};
