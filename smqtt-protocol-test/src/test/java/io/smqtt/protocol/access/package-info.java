// SPDX-License-Identifier: Apache-2.0
/** Who may connect, publish and subscribe. */
@NullMarked
package io.smqtt.protocol.access;

import org.jspecify.annotations.NullMarked;
