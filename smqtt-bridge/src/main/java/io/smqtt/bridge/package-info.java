// SPDX-License-Identifier: Apache-2.0
/** Connections that a broker opens to other brokers. */
@NullMarked
package io.smqtt.bridge;

import org.jspecify.annotations.NullMarked;
