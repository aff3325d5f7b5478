// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.Broker;

/**
 * The broker takes clients. Published on the thread that starts the application.
 *
 * @param broker the broker
 */
public record BrokerStartedEvent(Broker broker) {}
