// SPDX-License-Identifier: Apache-2.0
/** Parts of a broker that live outside of its core. */
@NullMarked
package io.smqtt.protocol.module;

import org.jspecify.annotations.NullMarked;
