// SPDX-License-Identifier: Apache-2.0
/** The interfaces that users may implement. Each one is small and has an in-memory or no-op default. */
@NullMarked
package io.smqtt.spi;

import org.jspecify.annotations.NullMarked;
