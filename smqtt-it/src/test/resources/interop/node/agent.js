// SPDX-License-Identifier: Apache-2.0
// Obeys one JSON command per line with MQTT.js; see ForeignLibrary.java for the commands.
'use strict';
const fs = require('fs');
const mqtt = require('mqtt');

const links = new Map();
const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');

function outgoing(message) {
  const properties = {};
  if (message.userProperties && message.userProperties.length) {
    // an object keeps one list per name: order holds among values of one name
    properties.userProperties = {};
    for (const pair of message.userProperties) {
      const at = pair.indexOf('=');
      const name = pair.slice(0, at);
      (properties.userProperties[name] ||= []).push(pair.slice(at + 1));
    }
  }
  if (message.responseTopic) properties.responseTopic = message.responseTopic;
  if (message.correlation) properties.correlationData = Buffer.from(message.correlation, 'hex');
  if (message.expiry != null) properties.messageExpiryInterval = message.expiry;
  if (message.contentType) properties.contentType = message.contentType;
  if (message.payloadFormat) properties.payloadFormatIndicator = true;
  return properties;
}

function received(topic, payload, packet) {
  const p = packet.properties || {};
  const message = { topic, payload: payload.toString('utf8'), qos: packet.qos, retain: packet.retain, userProperties: [] };
  for (const [name, values] of Object.entries(p.userProperties || {})) {
    for (const value of [].concat(values)) message.userProperties.push(name + '=' + value);
  }
  if (p.responseTopic) message.responseTopic = p.responseTopic;
  if (p.correlationData) message.correlation = p.correlationData.toString('hex');
  if (p.messageExpiryInterval != null) message.expiry = p.messageExpiryInterval;
  if (p.contentType) message.contentType = p.contentType;
  if (p.payloadFormatIndicator != null) message.payloadFormat = p.payloadFormatIndicator ? 1 : 0;
  return message;
}

function connect(r) {
  const scheme = { tcp: 'mqtt', tls: 'mqtts', ws: 'ws', wss: 'wss' }[r.transport];
  const five = r.version === 5;
  const options = {
    protocolVersion: r.version, protocolId: r.version === 3 ? 'MQIsdp' : 'MQTT', clientId: r.clientId, clean: r.cleanStart,
    reconnectPeriod: 0, connectTimeout: 15000, resubscribe: false,
    properties: five ? { sessionExpiryInterval: r.sessionExpiry } : undefined,
  };
  if (r.transport === 'tls' || r.transport === 'wss') options.ca = fs.readFileSync(r.ca);
  if (r.will) {
    options.will = { topic: r.will.topic, payload: r.will.payload, qos: r.will.qos, retain: r.will.retain };
  }
  const path = r.transport.startsWith('ws') ? r.path : '';
  const client = mqtt.connect(`${scheme}://${r.host}:${r.port}${path}`, options);
  client.on('message', (topic, payload, packet) => say({ link: r.link, message: received(topic, payload, packet) }));
  const link = { client, five, lastAck: 0 };
  // the callback of publish() does not carry the reason code of a PUBACK
  client.on('packetreceive', (p) => {
    if (p.cmd === 'puback' || p.cmd === 'pubrec') link.lastAck = p.reasonCode || 0;
  });
  links.set(r.link, link);
  return new Promise((resolve, reject) => {
    client.once('connect', (ack) => resolve({ sessionPresent: Boolean(ack.sessionPresent) }));
    client.once('error', reject);
    client.once('close', () => reject(new Error('connection closed')));
  }).finally(() => client.on('error', () => {}));
}

const callback = (resolve, reject, map) => (error, value, packet) => (error ? reject(error) : resolve(map(value, packet)));

const operations = {
  connect,
  subscribe: (r, { client }) => new Promise((resolve, reject) => {
    const wanted = Object.fromEntries(r.filters.map((filter, i) => [filter, { qos: r.qos[i] }]));
    client.subscribe(wanted, callback(resolve, reject, (granted, packet) => ({ codes: packet.granted })));
  }),
  unsubscribe: (r, { client }) => new Promise((resolve, reject) => {
    client.unsubscribe(r.filter, callback(resolve, reject, (packet, again) => ({ codes: ((again || packet) || {}).granted || [] })));
  }),
  publish: ({ message }, link) => new Promise((resolve, reject) => {
    const options = { qos: message.qos, retain: message.retain, properties: link.five ? outgoing(message) : undefined };
    link.lastAck = 0;
    link.client.publish(message.topic, message.payload, options, callback(resolve, reject, () => ({ code: link.lastAck })));
  }),
  disconnect: (r, { client }) => new Promise((resolve) => {
    const options = 'sessionExpiry' in r ? { properties: { sessionExpiryInterval: r.sessionExpiry } } : {};
    client.end(false, options, () => resolve({}));
  }),
  cut: async (r, { client }) => {
    client.stream.destroy();
    return {};
  },
};

require('readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const r = JSON.parse(line);
  try {
    say({ id: r.id, ...(await operations[r.op](r, links.get(r.link))) });
  } catch (error) {
    say({ id: r.id, error: String(error && error.message) });
  }
}).on('close', () => process.exit(0));
say({ ready: true });
