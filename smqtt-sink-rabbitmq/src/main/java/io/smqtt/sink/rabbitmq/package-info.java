// SPDX-License-Identifier: Apache-2.0
/** The sink of type {@code rabbitmq}: rows of rules as messages of RabbitMQ; and the source of this type. */
@NullMarked
package io.smqtt.sink.rabbitmq;

import org.jspecify.annotations.NullMarked;
