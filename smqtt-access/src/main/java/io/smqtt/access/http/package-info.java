// SPDX-License-Identifier: Apache-2.0
/** Backends that are HTTP servers, with the requests and answers of EMQX and of mosquitto-go-auth. */
@NullMarked
package io.smqtt.access.http;

import org.jspecify.annotations.NullMarked;
