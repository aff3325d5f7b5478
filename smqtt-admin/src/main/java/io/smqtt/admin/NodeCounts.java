// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

/**
 * Counts of one node. Immutable.
 *
 * @param sessions number of sessions, online and offline, in-process consumers included
 * @param connections number of connected clients
 * @param subscriptions number of subscriptions
 * @param retained number of retained messages
 */
public record NodeCounts(int sessions, int connections, long subscriptions, long retained) {}
