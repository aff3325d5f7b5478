// SPDX-License-Identifier: Apache-2.0
/** The byte form of application messages and their parts, shared by stores and the links between nodes. */
@NullMarked
package io.smqtt.bytes;

import org.jspecify.annotations.NullMarked;
