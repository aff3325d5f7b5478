// SPDX-License-Identifier: Apache-2.0
/** Tests of the kit that users test their applications with. */
@NullMarked
package io.smqtt.test.kit;

import org.jspecify.annotations.NullMarked;
