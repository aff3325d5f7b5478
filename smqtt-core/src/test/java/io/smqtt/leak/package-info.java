// SPDX-License-Identifier: Apache-2.0
/** Makes a leaked buffer fail the build: Netty's own leak detector, heard by every test run of every module. */
@NullMarked
package io.smqtt.leak;

import org.jspecify.annotations.NullMarked;
