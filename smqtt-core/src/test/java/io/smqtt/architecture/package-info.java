// SPDX-License-Identifier: Apache-2.0
/** The layering of the modules and packages as data, and the tests that hold the code to it. */
@NullMarked
package io.smqtt.architecture;

import org.jspecify.annotations.NullMarked;
