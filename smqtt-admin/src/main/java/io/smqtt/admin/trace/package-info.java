// SPDX-License-Identifier: Apache-2.0
/** Traces that operators start: what they are about, their files on each node, and the routes of the API. */
@NullMarked
package io.smqtt.admin.trace;

import org.jspecify.annotations.NullMarked;
