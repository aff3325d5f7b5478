// SPDX-License-Identifier: Apache-2.0
/**
 * The router of the REST API: routes, requests, answers and problems. It knows no HTTP server, so that an application can mount it
 * at a path of its own.
 */
@NullMarked
package io.smqtt.admin.api;

import org.jspecify.annotations.NullMarked;
