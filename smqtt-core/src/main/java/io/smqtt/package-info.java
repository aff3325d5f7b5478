// SPDX-License-Identifier: Apache-2.0
/**
 * The broker as an object: build it, start it, publish and subscribe in process, look inside, close it. This package
 * wires the others together and is the only one that an embedding application needs to know.
 */
@NullMarked
package io.smqtt;

import org.jspecify.annotations.NullMarked;
