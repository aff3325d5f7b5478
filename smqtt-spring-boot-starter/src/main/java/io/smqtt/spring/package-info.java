// SPDX-License-Identifier: Apache-2.0
/**
 * The broker as a part of a Spring Boot application. It is configured by the keys below {@code smqtt.}, which are those of
 * {@link io.smqtt.config.BrokerConfig}; beans of the application take part in it.
 */
@NullMarked
package io.smqtt.spring;

import org.jspecify.annotations.NullMarked;
