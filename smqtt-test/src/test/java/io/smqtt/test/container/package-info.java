// SPDX-License-Identifier: Apache-2.0
/** Tests of the container. */
@NullMarked
package io.smqtt.test.container;

import org.jspecify.annotations.NullMarked;
