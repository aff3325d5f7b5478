// SPDX-License-Identifier: Apache-2.0
/**
 * Tests of the real program: the fat jar runs as a process of its own. It is started, stopped, reloaded, killed, starved and put
 * behind a proxy; and client libraries of several languages talk to it over TCP, TLS, WebSocket and secure WebSocket. The scenarios are written once ({@link io.smqtt.it.InteropScenarios}); each library is an
 * adapter ({@link io.smqtt.it.ClientLibrary}).
 */
@NullMarked
package io.smqtt.it;

import org.jspecify.annotations.NullMarked;
