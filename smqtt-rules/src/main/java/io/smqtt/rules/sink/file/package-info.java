// SPDX-License-Identifier: Apache-2.0
/** The sink that appends to a file, and the file, which begins anew when it is large. */
@NullMarked
package io.smqtt.rules.sink.file;

import org.jspecify.annotations.NullMarked;
