// SPDX-License-Identifier: Apache-2.0
/** Tests of the proxy, of recordings and of their replay. */
@NullMarked
package io.smqtt.test.wire;

import org.jspecify.annotations.NullMarked;
