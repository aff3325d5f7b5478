// SPDX-License-Identifier: Apache-2.0
/** Routing of application messages to their subscribers: the router, the subscription index, shared groups, retained messages. */
@NullMarked
package io.smqtt.routing;

import org.jspecify.annotations.NullMarked;
