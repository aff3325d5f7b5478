// SPDX-License-Identifier: Apache-2.0
/** The broker's configuration: immutable records, validated in their constructors, with documented safe defaults. */
@NullMarked
package io.smqtt.config;

import org.jspecify.annotations.NullMarked;
