// SPDX-License-Identifier: Apache-2.0
/** The SQL language of rules: statements are compiled once and evaluated for each message or event. */
@NullMarked
package io.smqtt.rules.sql;

import org.jspecify.annotations.NullMarked;
