// SPDX-License-Identifier: Apache-2.0
/** The broker as a program: command line, configuration, logging. */
@NullMarked
package io.smqtt.bootstrap;

import org.jspecify.annotations.NullMarked;
