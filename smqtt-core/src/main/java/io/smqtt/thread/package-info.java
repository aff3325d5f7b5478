// SPDX-License-Identifier: Apache-2.0
/** On which threads methods may be called: said by annotations, which a test over the compiled classes checks. */
@NullMarked
package io.smqtt.thread;

import org.jspecify.annotations.NullMarked;
