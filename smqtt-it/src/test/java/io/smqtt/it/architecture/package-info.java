// SPDX-License-Identifier: Apache-2.0
/** The edges between the modules as data, and the test that holds their classes to it. */
@NullMarked
package io.smqtt.it.architecture;

import org.jspecify.annotations.NullMarked;
