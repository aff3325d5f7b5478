// SPDX-License-Identifier: Apache-2.0
/** The files of the dashboard. Their sources are in {@code smqtt-admin/dashboard}. */
@NullMarked
package io.smqtt.admin.page;

import org.jspecify.annotations.NullMarked;
