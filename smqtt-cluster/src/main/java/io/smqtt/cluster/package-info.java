// SPDX-License-Identifier: Apache-2.0
/** Connects several brokers to one cluster: a peer is a subscriber of the router. */
@NullMarked
package io.smqtt.cluster;

import org.jspecify.annotations.NullMarked;
