// SPDX-License-Identifier: Apache-2.0
/** The sink of type {@code jdbc}: rows of rules in PostgreSQL, MariaDB and MySQL. */
@NullMarked
package io.smqtt.sink.jdbc;

import org.jspecify.annotations.NullMarked;
