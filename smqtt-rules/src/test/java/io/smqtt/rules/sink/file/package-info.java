// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.smqtt.rules.sink.file;

import org.jspecify.annotations.NullMarked;
