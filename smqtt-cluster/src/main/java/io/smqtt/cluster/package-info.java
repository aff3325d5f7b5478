// SPDX-License-Identifier: Apache-2.0
/** Makes several brokers one: a peer is a subscriber of the router. */
@NullMarked
package io.smqtt.cluster;

import org.jspecify.annotations.NullMarked;
