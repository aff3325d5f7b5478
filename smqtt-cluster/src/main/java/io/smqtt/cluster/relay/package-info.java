// SPDX-License-Identifier: Apache-2.0
/** Clients of front nodes: how a front node reaches the node that serves a client, and how that node takes it. */
@NullMarked
package io.smqtt.cluster.relay;

import org.jspecify.annotations.NullMarked;
