// SPDX-License-Identifier: Apache-2.0
/** Users and access rules in PostgreSQL, MariaDB and MySQL: backends of the type {@code sql}. */
@NullMarked
package io.smqtt.access.sql;

import org.jspecify.annotations.NullMarked;
