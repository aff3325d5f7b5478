// SPDX-License-Identifier: Apache-2.0
/** The sinks that send HTTP requests: any server, and InfluxDB. */
@NullMarked
package io.smqtt.rules.sink.http;

import org.jspecify.annotations.NullMarked;
