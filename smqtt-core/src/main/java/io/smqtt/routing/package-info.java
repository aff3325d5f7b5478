// SPDX-License-Identifier: Apache-2.0
/** From an application message to its subscribers: the subscription index, shared groups, retained messages, the router. */
@NullMarked
package io.smqtt.routing;

import org.jspecify.annotations.NullMarked;
